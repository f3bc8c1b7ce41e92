/** The arrays of the index that other threads may read. */
export type SharedArray = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array

interface ArrayType<T extends SharedArray> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: SharedArrayBuffer): T
}

/** Zeros, in a SharedArrayBuffer of their own. */
export function sharedArray<T extends SharedArray>(Type: ArrayType<T>, length: number): T {
  return new Type(new SharedArrayBuffer(length * Type.BYTES_PER_ELEMENT))
}

/**
 * `array` when item `length - 1` is in it, else one of at least twice the length that begins with the same items.
 *
 * Who still has the old one reads the same items there as long as nobody changes them.
 */
export function withRoom<T extends SharedArray>(array: T, length: number): T {
  if (length <= array.length) return array
  const Type = array.constructor as unknown as ArrayType<T>
  const longer = sharedArray(Type, Math.max(length, array.length * 2))
  longer.set(array as never)
  return longer
}
