/** Largest image that is shown: five million characters as base64, which every provider takes. */
export const MAX_IMAGE_BYTES = 3_750_000

/** The media type of an image that models can see, by its first bytes; undefined for anything else. */
export function imageType(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12)
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined
}
