/**
 * In the place of the global of this name: the same clock with another beginning. The first touch of the global loads the
 * twelve modules of node:perf_hooks, which nothing here uses.
 */
export const performance = { now: (): number => Number(process.hrtime.bigint()) / 1e6 }
