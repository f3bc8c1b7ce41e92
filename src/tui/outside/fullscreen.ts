import type { ChatStore } from '../state/store.ts'
import type { Screen } from '../terminal/screen.ts'

/** Keeps the screen on the alternate buffer while the state says so and the terminal is not lent. */
export function followFullscreen(store: ChatStore, screen: Pick<Screen, 'setFullscreen'>): Disposable {
  const follow = () => {
    const { isFullscreen, isLent, isLeaving } = store.getShown()
    screen.setFullscreen(isFullscreen && !isLent && !isLeaving)
  }
  const stop = store.subscribe(follow)
  follow()
  return { [Symbol.dispose]: () => stop() }
}
