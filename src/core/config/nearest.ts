export { didYouMean, nearest } from '../base/nearest.ts'
