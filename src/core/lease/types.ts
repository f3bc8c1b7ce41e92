/** An exclusive right that is held until it is disposed. Disposing twice is harmless. */
export interface Lease extends AsyncDisposable {}

/** Exclusive rights by name, first come, first served (ADR 0030). */
export interface Leases {
  /**
   * Waits for the resource and returns its lease. An abort leaves the queue and throws the CrabError of the
   * abort, else `cancelled`.
   */
  take(resource: string, signal: AbortSignal): Promise<Lease>
}
