const token = /^[\w!#$%&'*+.^`|~-]+$/
/** A byte each, and none that ends a line. */
const value = /^[\t\x20-\x7e\x80-\xff]*$/
const target = /^[\x21-\x7e\x80-\xff]+$/

/**
 * The head of a POST up to its length, as undici would write it; undefined where undici would refuse it, or has a form of
 * its own: then it is undici's.
 */
export const plainRequestHead = (path: string, headers: ReadonlyArray<string>): string | undefined => {
  if (!target.test(path) || path === "*") return undefined
  let host = ""
  let rest = ""
  for (let i = 0; i < headers.length; i += 2) {
    const [name, content] = [headers[i]!, headers[i + 1]!]
    if (!token.test(name) || !value.test(content)) return undefined
    if (name.toLowerCase() === "host") host = content
    else rest += `${name}: ${content}\r\n`
  }
  return `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${rest}`
}

/** The whole request, a character for each byte. */
export const plainRequest = (head: string, body: Buffer) =>
  `${head}content-length: ${body.length}\r\n\r\n${body.toString("latin1")}`
