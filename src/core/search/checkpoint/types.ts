/** What a checkpoint can hold an array of. */
export type NumberArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array

/**
 * One file of a checkpoint: small facts and arrays, by name.
 *
 * Read back, all arrays are views of one SharedArrayBuffer, each at a multiple of 8 bytes: nothing is copied between
 * threads.
 */
export interface CheckpointPart {
  facts: Readonly<Record<string, number>>
  arrays: Readonly<Record<string, NumberArray>>
}

/** What is to be saved: a part, or the name of the file that already holds it. */
export interface PartToSave {
  /** What it is to who reads it: `segment`, `dictionary`, `sessions`. */
  role: string
  /** As saveCheckpoint() or loadCheckpoint() gave it: then that file is kept where it is still there. */
  file?: string
  part: CheckpointPart
}

/** A part as it was read. */
export interface SavedPart {
  role: string
  file: string
  part: CheckpointPart
}

/** Where checkpoints of one index are, and what understands them. */
export interface CheckpointPlace {
  /** For them alone: what else is in it is removed. */
  folder: string
  /** Changes with everything that the arrays' meaning hangs on: their layout, how text becomes terms. */
  maker: string
}
