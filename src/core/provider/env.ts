/** The environment variables of the caller; code below does not read process.env. */
export type Env = Readonly<Record<string, string | undefined>>
