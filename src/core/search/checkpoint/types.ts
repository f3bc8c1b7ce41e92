/** The types of array that a checkpoint can hold. */
export type NumberArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array

/**
 * The contents of one checkpoint file: named numbers and named arrays.
 *
 * After loading, all arrays are views of one SharedArrayBuffer, each aligned to 8 bytes, so that threads
 * share them without copying.
 */
export interface CheckpointPart {
  facts: Readonly<Record<string, number>>
  arrays: Readonly<Record<string, NumberArray>>
}

/** A part to save, with the name of the file that already holds it, if any. */
export interface PartToSave {
  /** The purpose of the part to its reader: `segment`, `dictionary`, `sessions`. */
  role: string
  /** The name that saveCheckpoint() or loadCheckpoint() returned; the file is reused if it still exists. */
  file?: string
  part: CheckpointPart
}

/** A part that was loaded. */
export interface SavedPart {
  role: string
  file: string
  part: CheckpointPart
}

/** The location of an index's checkpoints, and the version of code that can read them. */
export interface CheckpointLocation {
  /** Used for the checkpoints only: any other file in it is removed. */
  folder: string
  /**
   * Changes with everything that determines the meaning of the arrays: their layout, and how text becomes
   * terms.
   */
  maker: string
}
