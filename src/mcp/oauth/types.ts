import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/client'

/** The parts of a server's `WWW-Authenticate` header that a login needs. */
export interface LoginChallenge {
  resourceMetadataUrl?: URL
  scope?: string
}

/** The authorization server of an MCP server, as it was found and checked. */
export interface AuthorizationServer {
  /** Its address as the MCP server names it. */
  address: string
  metadata: AuthorizationServerMetadata
  /** The resource indicator of the MCP server (RFC 8707); undefined when it publishes none. */
  resource: string | undefined
  /** The scope to request; undefined for the one that the authorization server chooses. */
  scope: string | undefined
}

/** This program at an authorization server: its id, and a secret if it has one. */
export type LoginClient = OAuthClientInformationMixed

/** Tokens with their times in milliseconds since 1970; without `expiresAt` they are valid until they are refused. */
export interface LoginTokens extends OAuthTokens {
  receivedAt: number
  expiresAt?: number
}
