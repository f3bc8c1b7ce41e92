/** The largest image that is shown: five million characters as base64, which every provider accepts. */
export const MAX_IMAGE_BYTES = 3_750_000
