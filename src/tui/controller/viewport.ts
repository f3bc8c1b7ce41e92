import type { SessionMessage, StreamEvent } from '../../core/protocol/crabtalk.generated.ts'

/** Tracks how much of a conversation is on the screen, so that a chat that reconnects knows what it missed. */
export class Viewport {
  /** The `StreamEvent.seq` of the last event; 0 before the first. */
  seq = 0
  /** The line up to which all stored messages are on the screen. */
  #line = 0
  /** Counts for the turn after that line: answers that were shown completely, and steers that it took up. */
  #answers = 0
  #steers = 0
  #isInStep = false

  /** Records that all stored messages up to a line are on the screen. */
  stored(line: number): void {
    this.#line = line
    this.#answers = 0
    this.#steers = 0
    this.#isInStep = false
  }

  /** Records an event; returns false when it was shown before. */
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

  /** Returns the stored messages that are not on the screen, oldest first as given. */
  missing(messages: readonly SessionMessage[]): SessionMessage[] {
    let [answers, steers, isShown] = [this.#answers, this.#steers, false]
    return messages.filter(({ seq, role }) => {
      if (seq <= this.#line) return false
      if (role === 'assistant') isShown = answers-- > 0
      if (role === 'user') {
        isShown = steers-- > 0
        if (!isShown) answers = 0 // the next turn
      }
      return !isShown // tool results follow the calls before them
    })
  }

  #endStep(): void {
    if (this.#isInStep) this.#answers++
    this.#isInStep = false
  }
}
