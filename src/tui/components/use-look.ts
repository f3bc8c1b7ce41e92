import { useEffect, useState } from 'react'
import { type Look, loadColours, loadParser, warmParser } from '../view/look.ts'

/**
 * Returns the look, which is plain at first: the Markdown parser is loaded after the first frame, the
 * highlighter once there is code. The look is settled when nothing that would improve the current content is
 * still loading.
 */
export function useLook(color: boolean, hasCode: boolean): { look: Look; isSettled: boolean } {
  const [look, setLook] = useState<Look>({ color })
  const [failed, setFailed] = useState({ parse: false, highlight: false })
  const wantsColours = color && hasCode
  useEffect(() => {
    loadParser()
      .then((parse) => setLook((before) => ({ ...before, parse })))
      .then(warmParser)
      .catch(() => setFailed((before) => ({ ...before, parse: true }))) // plain text is readable, too
  }, [])
  useEffect(() => {
    if (!wantsColours) return
    loadColours()
      .then((highlight) => setLook((before) => ({ ...before, highlight })))
      .catch(() => setFailed((before) => ({ ...before, highlight: true })))
  }, [wantsColours])
  const hasParser = failed.parse || look.parse !== undefined
  const hasColours = !wantsColours || failed.highlight || look.highlight !== undefined
  return { look, isSettled: hasParser && hasColours }
}
