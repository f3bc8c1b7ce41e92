/** The place where a credential was found. */
export type CredentialSource =
  | { kind: 'vault' }
  | { kind: 'env-file'; path: string; line: number }
  | { kind: 'environment' }
  | { kind: 'prompt' }

/** A credential with its value, which must not be shown. */
export interface Credential {
  name: string
  value: string
  source: CredentialSource
}

/** Finds credentials by name. */
export interface CredentialResolver {
  /** Returns undefined when no source has it. Throws as the vault does, and `storage`. */
  find(name: string): Promise<Credential | undefined>
}
