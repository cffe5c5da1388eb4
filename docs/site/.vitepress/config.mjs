import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitepress'
import { anchor, outward, repository, root } from '../github.mjs'

const docs = join(root, 'docs')
const modules = createRequire(import.meta.url)

/** page is an entry of the sidebar, with the title that the page itself has. */
function page(name) {
  const title = readFileSync(join(docs, name + '.md'), 'utf8').match(/^# (.*)$/m)[1]
  return { text: title.replaceAll('`', ''), link: '/' + (name === 'README' ? '' : name) }
}

const chapters = {
  'Start': ['README', 'start', 'adopt', 'way', 'install', 'upgrading', 'faq', 'comparison'],
  'For you': ['pack-authors', 'reviewers', 'release-managers', 'security-teams', 'operations'],
  'Checks and versions': ['rules', 'proofs', 'classes'],
  'Packs': ['files', 'compile', 'conditions', 'cases', 'several-packs', 'overlays', 'evaluation'],
  'The action and the report': ['action', 'ci', 'report', 'playground', 'doctor', 'editors'],
  'Publishing': ['publishing', 'environments', 'registry', 'verifying', 'notices', 'threat-model'],
  'The project': ['decisions', 'performance', 'releasing'],
}

/** sidebar lists the chapters, and beside a rule those of its check. A page in none of them is an error. */
function sidebar() {
  const listed = Object.values(chapters).flat()
  const there = readdirSync(docs).filter((f) => f.endsWith('.md')).map((f) => f.slice(0, -3))
  const missing = there.filter((f) => !listed.includes(f))
  if (missing.length > 0) throw new Error(`no chapter of the sidebar has ${missing.join(', ')}: add them to .vitepress/config.mjs`)
  const beside = {}
  for (const id of readdirSync(join(docs, 'rules')).sort().map((f) => f.slice(0, -3))) {
    const list = (beside['/rules/' + id.slice(0, 3)] ??= [{ items: [page('rules')] }])
    list[0].items.push(page('rules/' + id))
  }
  return {
    ...beside,
    '/': Object.entries(chapters).map(([text, names]) => ({ text, items: names.map(page) })),
  }
}

/** asOnGitHub makes links that lead out of docs/ lead to the repository, and draws diagrams. */
function asOnGitHub(md) {
  md.core.ruler.push('outward', ({ env, tokens }) => {
    for (const token of tokens.flatMap((t) => t.children ?? [])) {
      const href = token.type === 'link_open' && token.attrGet('href')
      const target = href && outward(env.relativePath === 'index.md' ? 'README.md' : env.relativePath, href)
      if (target) token.attrSet('href', target)
    }
  })
  const code = md.renderer.rules.code_inline
  md.renderer.rules.code_inline = (tokens, i, ...rest) => {
    tokens[i].attrSet('v-pre', '') // what looks like a template is none
    return code(tokens, i, ...rest)
  }
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, i, ...rest) => tokens[i].info.trim() === 'mermaid'
    ? `<Diagram source="${encodeURIComponent(tokens[i].content)}" />`
    : fence(tokens, i, ...rest)
}

export default defineConfig({
  title: 'packgate',
  description: 'The gate in front of every ContextOS Context Pack',
  lang: 'en',
  base: '/packgate/',
  srcDir: '..',
  srcExclude: ['site/**'],
  outDir: 'dist',
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { anchor: { slugify: anchor }, config: asOnGitHub },
  themeConfig: {
    // An id finds its own rule first, and not what is spelt like it.
    search: {
      provider: 'local',
      options: { miniSearch: { searchOptions: { fuzzy: (word) => (/[0-9]/.test(word) ? false : 0.2), prefix: true, boost: { title: 8, text: 2, titles: 1 } } } },
    },
    nav: [{ text: 'Start', link: '/start' }, { text: 'Rules', link: '/rules' }, { text: 'The action', link: '/action' }],
    sidebar: sidebar(),
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: repository + '/edit/main/docs/:path' },
  },
  vite: {
    build: { chunkSizeWarningLimit: 4000 }, // the index of the search
    // The pages lie outside of the folder that has node_modules.
    resolve: { alias: { 'vue/server-renderer': modules.resolve('vue/server-renderer'), vue: dirname(modules.resolve('vue/package.json')) } },
  },
})
