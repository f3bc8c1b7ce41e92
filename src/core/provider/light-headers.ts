/**
 * HTTP headers without the built-in HTTP client.
 *
 * The first access to the global `Headers` costs about 15 ms. The responses of http-fetch.ts use this class,
 * and the build substitutes it for the global one inside the AI SDK packages. Names and values are not
 * validated.
 */
export class LightHeaders implements Headers {
  readonly #values = new Map<string, string>()

  constructor(init: Iterable<[string, string]> | Record<string, string> = {}) {
    for (const [name, value] of Symbol.iterator in init ? init : Object.entries(init))
      this.append(name, value)
  }

  append(name: string, value: string): void {
    const before = this.get(name)
    this.set(name, before === null ? value : `${before}, ${value}`)
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase())
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null
  }

  getSetCookie(): string[] {
    const value = this.get('set-cookie')
    return value === null ? [] : [value]
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase())
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value)
  }

  forEach(visit: (value: string, name: string, headers: LightHeaders) => void): void {
    for (const [name, value] of this.#values) visit(value, name, this)
  }

  keys(): MapIterator<string> {
    return this.#values.keys()
  }

  values(): MapIterator<string> {
    return this.#values.values()
  }

  entries(): MapIterator<[string, string]> {
    return this.#values.entries()
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#values.entries()
  }
}
