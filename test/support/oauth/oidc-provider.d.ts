declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface TokenModel {
    find(value: string): Promise<{ isExpired: boolean } | undefined>
  }

  /** The parts of oidc-provider that the tests use; the package has no types of its own. */
  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{
      prompt: { name: string; details: Record<string, unknown> }
      params: Record<string, unknown>
    }>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>
    on(event: string, listener: (...args: never[]) => void): void
    readonly AccessToken: TokenModel
    readonly ClientCredentials: TokenModel
    readonly Grant: new (
      options: object,
    ) => {
      addOIDCScope(scope: string): void
      addResourceScope(resource: string, scope: string): void
      save(): Promise<string>
    }
  }
}
