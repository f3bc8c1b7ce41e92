/** Changes whenever a text gives other terms than before: an index made with another one is made anew. */
export const TERMS_VERSION = 4
