/** The answers to a question of permission; any other text denies, and is the reason. */
export const PERMISSION_ANSWERS = {
  once: 'Allow once',
  session: 'Allow in this conversation',
  always: 'Always allow',
  no: 'Deny',
} as const
