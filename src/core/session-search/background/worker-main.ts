import { parentPort } from 'node:worker_threads'
import { serveJobs } from './serve-jobs.ts'

// The worker's program: nobody imports it.
if (parentPort) serveJobs(parentPort)
