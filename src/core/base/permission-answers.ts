/** The answers to a permission prompt. Any other text denies the request and is passed on as the reason. */
export const PERMISSION_ANSWERS = {
  once: 'Allow once',
  session: 'Allow in this conversation',
  /** Offered for a change of a file instead of `session` when the mode `edits` would allow it. */
  edits: 'Allow edits in this directory',
  always: 'Always allow',
  no: 'Deny',
} as const
