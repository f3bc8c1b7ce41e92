/** The answers to a permission prompt. Any other text denies the request and is passed on as the reason. */
export const PERMISSION_ANSWERS = {
  once: 'Allow once',
  session: 'Allow in this conversation',
  always: 'Always allow',
  no: 'Deny',
} as const
