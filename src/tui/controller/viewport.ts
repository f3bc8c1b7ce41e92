import type { SessionMessage, StreamEvent } from '../../core/protocol/crabtalk.generated.ts'

/** How much of a conversation stands on the screen: what a chat that comes back to it must know. */
export class Viewport {
  /** `StreamEvent.seq` of the last event; 0 before the first. */
  seq = 0
  /** Everything that is stored up to this line was shown. */
  #line = 0
  /** Of the turn behind it: answers that were shown whole, and words that were said while it worked. */
  #answers = 0
  #steers = 0
  #isInStep = false

  /** Everything that is stored up to a line is on the screen. */
  stored(line: number): void {
    this.#line = line
    this.#answers = 0
    this.#steers = 0
    this.#isInStep = false
  }

  /** An event is shown; false when it was before. */
  take({ seq, event }: StreamEvent): boolean {
    if (seq > 0 && seq <= this.seq) return false
    if (seq > 0) this.seq = seq
    switch (event?.$case) {
      case 'textStart':
      case 'thinkingStart':
      case 'toolStart':
        this.#isInStep = true
        break
      case 'userSteered':
        this.#endStep()
        this.#steers++
        break
      case 'toolsComplete':
      case 'end':
        this.#endStep()
    }
    return true
  }

  /** Of stored messages, oldest first, those that are not on the screen. */
  missing(messages: readonly SessionMessage[]): SessionMessage[] {
    let [answers, steers, isShown] = [this.#answers, this.#steers, false]
    return messages.filter(({ seq, role }) => {
      if (seq <= this.#line) return false
      if (role === 'assistant') isShown = answers-- > 0
      if (role === 'user') {
        isShown = steers-- > 0
        if (!isShown) answers = 0 // the next turn
      }
      return !isShown // results of tools are as the calls before them
    })
  }

  #endStep(): void {
    if (this.#isInStep) this.#answers++
    this.#isInStep = false
  }
}
