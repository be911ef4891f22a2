/**
 * The page's script: it filters the operations, opens the one that the address names, and sends requests to this
 * origin. Without it the page has everything but these. The key stays in its field: it is not stored.
 */
export const script = `
const operations = [...document.querySelectorAll('main details')]
const search = document.getElementById('search')
const found = document.getElementById('found')
const texts = new Map(operations.map((one) => [one, one.textContent.toLowerCase()]))
const filter = () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean)
  let count = 0
  for (const one of operations) {
    const title = one.querySelector('summary').textContent.toLowerCase()
    const text = texts.get(one)
    one.hidden = !words.every((word) => (word.length < 4 ? title : text).includes(word))
    if (!one.hidden) count++
  }
  for (const section of document.querySelectorAll('main section')) {
    section.hidden = words.length > 0 && !section.querySelector('details:not([hidden])')
  }
  found.textContent = words.length === 0 ? '' : count === 1 ? '1 operation' : count + ' operations'
}
search.addEventListener('input', filter)
const open = () => {
  const one = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (one instanceof HTMLDetailsElement) { one.open = true; one.scrollIntoView() }
}
addEventListener('hashchange', open)
const send = async (form) => {
  const query = new URLSearchParams()
  const path = form.dataset.path.replace(/\\{(\\w+)\\}/g, (_, name) => encodeURIComponent(form.elements[name].value))
  for (const field of form.querySelectorAll('[data-in=query]')) if (field.value !== '') query.append(field.name, field.value)
  const headers = {}
  const key = document.getElementById('key').value.trim()
  if (key !== '') headers.Authorization = 'Bearer ' + key
  let body
  if (form.dataset.type === 'application/json') {
    headers['Content-Type'] = 'application/json'
    body = form.querySelector('textarea').value
  }
  const file = form.querySelector('[type=file]')?.files[0]
  if (file) { body = new FormData(); body.append('file', file) }
  const answer = await fetch(path + (query.size ? '?' + query : ''), { method: form.dataset.method, headers, body })
  const text = await answer.text()
  let shown = text
  try { shown = JSON.stringify(JSON.parse(text), null, 1) } catch {}
  return answer.status + ' ' + answer.statusText + '\\n\\n' + shown
}
for (const form of document.querySelectorAll('main form')) {
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const output = form.querySelector('[aria-live]')
    output.hidden = false
    output.textContent = 'Sent'
    output.textContent = await send(form).catch((error) => String(error))
  })
}
for (const part of document.querySelectorAll('.scripted')) part.hidden = false
open()
`
