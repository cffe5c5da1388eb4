// Checks the site that was built: every page of docs/ is there as a whole, every link and picture
// leads to something, within the site and into the repository, and nothing is fetched from elsewhere.
// The argument is the folder of the site.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { anchor, outward, repository, root } from './github.mjs'

const base = '/packgate/'
const dist = process.argv[2]
const faults = []

const pages = new Map() // address within the site -> { ids, links }
for (const file of readdirSync(dist, { recursive: true }).filter((f) => f.endsWith('.html') && f !== '404.html')) {
  const html = readFileSync(join(dist, file), 'utf8')
  const address = base + file.replace(/(^|(?<=\/))index\.html$|\.html$/, '')
  pages.set(address, {
    ids: new Set([...html.matchAll(/\sid="([^"]*)"/g)].map((m) => unescape(m[1]))),
    links: [...html.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map((m) => unescape(m[1])),
    fetched: [...html.matchAll(/<(?:img|script|link|source|iframe)\b[^>]*\s(?:src|href)="([^"]*)"/g)].map((m) => unescape(m[1])),
  })
}

function unescape(text) {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/** fault says why a link of a page leads nowhere; undefined where it leads somewhere. */
function fault(from, href) {
  if (href.startsWith(repository)) {
    const file = href.slice(repository.length).match(/^\/(?:blob|tree|edit)\/main\/([^#]*)/)
    return file && !existsSync(join(root, decodeURI(file[1]))) ? 'the repository has no such file' : undefined
  }
  if (/^[a-z]+:/i.test(href)) return undefined // another site
  const url = new URL(href, 'https://site.invalid' + from)
  const page = pages.get(url.pathname)
  if (!page) return existsSync(join(dist, url.pathname.slice(base.length))) && !url.pathname.endsWith('/') ? undefined : 'the site has no such page'
  return url.hash && !page.ids.has(decodeURIComponent(url.hash.slice(1))) ? 'the page has no such heading' : undefined
}

let links = 0
for (const [address, page] of pages) {
  for (const href of page.links) {
    links++
    const why = fault(address, href)
    if (why) faults.push(`${address} links to ${href}: ${why}`)
  }
  for (const source of page.fetched) {
    if (source.startsWith('data:')) continue
    if (!source.startsWith(base) || !existsSync(join(dist, source.slice(base.length)))) faults.push(`${address} fetches ${source}`)
  }
}

// Every heading and every link of each source is on its page: none was lost while it was rendered.
const sources = readdirSync(join(root, 'docs'), { recursive: true }).filter((f) => f.endsWith('.md') && !f.startsWith('site'))
for (const source of sources) {
  const page = pages.get(base + (source === 'README.md' ? '' : source.slice(0, -3)))
  const text = readFileSync(join(root, 'docs', source), 'utf8').replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, (code) => code.replaceAll('[', ' '))
  for (const [, heading] of text.matchAll(/^#+ (.*)$/gm)) {
    if (!page?.ids.has(anchor(heading))) faults.push(`docs/${source}: the site lacks the heading ${JSON.stringify(heading)}`)
  }
  for (const [, href] of text.matchAll(/\]\((\.\.\/[^)\s]*)\)/g)) {
    const target = outward(source, href)
    if (target && !page?.links.includes(target)) faults.push(`docs/${source}: the site lacks the link to ${target}`)
  }
}

if (links < 100 || sources.length < 100) faults.push(`only ${links} links and ${sources.length} pages were found`)
if (faults.length > 0) {
  console.error(faults.join('\n'))
  process.exit(1)
}
console.log(`site: ${pages.size} pages and ${links} links, none of them dead`)
