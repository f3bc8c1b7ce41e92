/** A resource that a server offers. The texts are the server's: untrusted, made printable, truncated. */
export interface ResourceView {
  /** The URI as the server expects it. */
  uri: string
  name: string
  description: string
  /** Empty when the server does not say. */
  mimeType: string
  /** Bytes; undefined when the server does not say. */
  size: number | undefined
}

/** A family of resources with a URI template (RFC 6570). */
export interface ResourceTemplateView {
  uriTemplate: string
  name: string
  description: string
  mimeType: string
}

/** The resources and templates of one server. */
export interface ResourceList {
  resources: readonly ResourceView[]
  templates: readonly ResourceTemplateView[]
}
