/** A right that is held until it is disposed; disposing twice is harmless. */
export interface Lease extends AsyncDisposable {}

/** Exclusive rights by name, first come first served (decision 32). */
export interface Leases {
  /** Waits for the resource; an abort gives up the place in the queue and throws its CrabError, else `cancelled`. */
  take(resource: string, signal: AbortSignal): Promise<Lease>
}
