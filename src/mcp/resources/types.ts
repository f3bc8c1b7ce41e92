/** Something a server can be asked to read. Words are the server's: untrusted, made printable, capped. */
export interface ResourceView {
  /** As the server takes it. */
  uri: string
  name: string
  description: string
  /** Empty when the server does not say. */
  mimeType: string
  /** Bytes; undefined when the server does not say. */
  size: number | undefined
}

/** A family of resources (RFC 6570). */
export interface ResourceTemplateView {
  uriTemplate: string
  name: string
  description: string
  mimeType: string
}

/** What a server has to read. */
export interface ResourceList {
  resources: readonly ResourceView[]
  templates: readonly ResourceTemplateView[]
}
