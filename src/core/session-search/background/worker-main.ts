import { parentPort } from 'node:worker_threads'
import { serveJobs } from './serve-jobs.ts'

// The entry point of the worker; not imported by any module.
if (parentPort) serveJobs(parentPort)
