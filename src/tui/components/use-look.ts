import { useEffect, useState } from 'react'
import { type Look, loadLook } from '../view/look.ts'

/**
 * The look, plain at first: what makes it rich is loaded behind the first frame. It is settled when Markdown can be laid
 * out, or never will be.
 */
export function useLook(color: boolean): { look: Look; isSettled: boolean } {
  const [look, setLook] = useState<Look>({ color })
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    const enrich = async () => {
      for await (const more of loadLook(color)) setLook((before) => ({ ...before, ...more }))
    }
    enrich().catch(() => setFailed(true)) // plain text is readable, too
  }, [color])
  return { look, isSettled: hasFailed || look.parse !== undefined }
}
