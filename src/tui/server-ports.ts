/** A login to a remote MCP server of an agent, or of a file. */
export interface ServerLogin {
  agent: string
  name: string
  /** Shows the address of the login page; resolves with an address that the user pasted. */
  ask(page: { address: string; isOpen: boolean }, signal: AbortSignal): Promise<string | undefined>
}

/**
 * Logs in and connects the server; returns the result as a sentence. An abort frees the port that waits for the browser.
 */
export type LogInPort = (login: ServerLogin, signal: AbortSignal) => Promise<string>

/** A description of servers in sections of rows with a name and a text. */
export interface ServerDescription {
  title: string
  sections: readonly { title: string; rows: readonly (readonly [name: string, text: string])[] }[]
}
