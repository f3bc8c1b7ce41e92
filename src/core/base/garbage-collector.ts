/** The garbage collector of this process. Its methods return when the collection is over, and never throw. */
export interface GarbageCollector {
  /** Collects all garbage and returns free pages to the system, which takes some 20 ms. */
  collectAll(): void
  /** Collects new objects, in a millisecond or two, if there are some MB of them since the last collection. */
  collectYoung(): void
}
