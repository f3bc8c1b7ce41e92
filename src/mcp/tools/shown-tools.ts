/** Whether an agent's model sees a tool; why it does not is in `hidden`. */
export function isVisibleTool({ hidden }: { hidden: string }): boolean {
  return hidden === ''
}
