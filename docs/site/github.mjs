// What GitHub does with the pages under docs/, so that a link works there and on the site.

import { posix } from 'node:path'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const repository = 'https://github.com/contextosai/packgate'
export const root = fileURLToPath(new URL('../../', import.meta.url))

/** anchor returns the name that GitHub gives to a heading. */
export function anchor(heading) {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
}

/**
 * outward returns the address on GitHub of what a page under docs/ links to outside of it, and
 * undefined for a link within docs/ or to another site.
 */
export function outward(page, href) {
  if (/^([a-z][a-z0-9+.-]*:|\/|#)/i.test(href)) return undefined
  const [target, hash] = href.split('#')
  const file = posix.join('docs', posix.dirname(page), decodeURI(target))
  if (file.startsWith('docs/')) return undefined
  const kind = statSync(posix.join(root, file)).isDirectory() ? 'tree' : 'blob'
  return `${repository}/${kind}/main/${file}` + (hash ? `#${hash}` : '')
}
