/** Incremented whenever any text yields other terms than before; an index with another version is rebuilt. */
export const TERMS_VERSION = 4
