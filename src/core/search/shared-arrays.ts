/** An array of the index that other threads may read. */
export type SharedArray = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array

interface ArrayType<T extends SharedArray> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: SharedArrayBuffer): T
}

/** Allocates an array of zeros with its own SharedArrayBuffer. */
export function sharedArray<T extends SharedArray>(Type: ArrayType<T>, length: number): T {
  return new Type(new SharedArrayBuffer(length * Type.BYTES_PER_ELEMENT))
}

/**
 * Returns `array` if it has at least `length` items, otherwise a copy of at least twice its length.
 *
 * The old array stays valid for its readers as long as its items do not change.
 */
export function withRoom<T extends SharedArray>(array: T, length: number): T {
  if (length <= array.length) return array
  const Type = array.constructor as unknown as ArrayType<T>
  const longer = sharedArray(Type, Math.max(length, array.length * 2))
  longer.set(array as never)
  return longer
}
