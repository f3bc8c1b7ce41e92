/** Splits bytes at a delimiter, which is left out; a record longer than `maxBytes` is skipped. */
export async function* splitRecords(
  pieces: AsyncIterable<Uint8Array>,
  { delimiter, maxBytes }: { delimiter: number; maxBytes: number },
): AsyncGenerator<Buffer> {
  let partial: Buffer[] = []
  let size = 0
  const take = (piece: Buffer): Buffer | undefined => {
    const record = size + piece.length > maxBytes ? undefined : Buffer.concat([...partial, piece])
    partial = []
    size = 0
    return record
  }
  for await (const bytes of pieces) {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let start = 0
    for (let end = piece.indexOf(delimiter); end >= 0; end = piece.indexOf(delimiter, start)) {
      const record = take(piece.subarray(start, end))
      if (record) yield record
      start = end + 1
    }
    size += piece.length - start
    if (size <= maxBytes) partial.push(piece.subarray(start))
    else partial = []
  }
  const rest = take(Buffer.alloc(0))
  if (rest && rest.length > 0) yield rest
}
