import type { AttachingProcess } from '../../src/daemon/attaching-process.ts'

/** A process that attaches to a home, by default without a daemon; its standard error is discarded. */
export function testCaller(home: string, more: Partial<AttachingProcess> = {}): AttachingProcess {
  return {
    env: { CRABTALK_HOME: home },
    pid: process.pid,
    cwd: () => home,
    homeDir: home,
    uid: process.getuid?.() ?? 0,
    withoutDaemon: true,
    stderr: { write: () => undefined },
    ripgrep: async () => undefined,
    searchWorker: async () => undefined,
    build: async () => ({ command: [process.execPath] }),
    ...more,
  }
}
