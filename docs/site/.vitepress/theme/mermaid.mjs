import script from '@mermaid-js/tiny/dist/mermaid.tiny.js?url'

let loaded

/** mermaid returns what draws diagrams: a script of 2.5 MB, fetched once and only where there is one. */
export function mermaid() {
  return (loaded ??= new Promise((resolve, reject) => {
    const tag = document.createElement('script')
    tag.onload = () => resolve(globalThis.mermaid)
    tag.onerror = () => reject(new Error('what draws diagrams could not be fetched'))
    tag.src = script
    document.head.append(tag)
  }))
}
