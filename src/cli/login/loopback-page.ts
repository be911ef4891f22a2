import { createHash } from "node:crypto"
import { type ServerResponse } from "node:http"

const style = "body{font:16px/1.6 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}" +
  ":root{color-scheme:light dark}"
const styleHash = createHash("sha256").update(style).digest("base64")

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  // The listener ends with the login, and waits for no connection that a browser keeps.
  connection: "close"
}

const pages = {
  loggedIn: [200, "You are logged in", "You can close this window and go back to your terminal."],
  denied: [200, "You did not allow it", "Nobody was logged in. You can close this window."],
  failed: [502, "The login failed", "Your terminal says why. You can close this window."],
  stray: [
    400,
    "This is no answer to the login",
    "It does not come from the login that your terminal waits for. Go back " +
    "to the page that berth login opened."
  ],
  nothing: [404, "There is nothing here", "Go back to the page that berth login opened."]
} as const satisfies Readonly<Record<string, readonly [number, string, string]>>
export type LoopbackPage = keyof typeof pages

/**
 * Ends a request with one of the pages of the command line's own listener; the first counts. They hold nothing
 * of what was sent.
 */
export const answerWith = (response: ServerResponse, page: LoopbackPage) => {
  if (response.headersSent) return
  const [status, title, text] = pages[page]
  response.writeHead(status, headers).end(
    `<!doctype html>\n<html lang="en">\n<meta charset="utf-8"><title>${title}</title>\n<style>${style}</style>\n` +
      `<h1>${title}</h1>\n<p>${text}</p>\n</html>\n`
  )
}
