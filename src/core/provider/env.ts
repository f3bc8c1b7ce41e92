/** The environment of whoever opens the models; nothing below reads another. */
export type Env = Readonly<Record<string, string | undefined>>
