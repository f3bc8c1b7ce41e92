/** Renders a bar of `columns` columns, filled to a share from 0 to 1. */
export function meter(share: number, columns: number): string {
  const full = Math.min(columns, Math.max(0, Math.round(share * columns)))
  return '━'.repeat(full) + '╌'.repeat(columns - full)
}
