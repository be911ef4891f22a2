import { send, type Sent } from "../../support/http.ts"
import { PlainBrowser } from "../../support/pages.ts"

/**
 * A person who is signed in to the platform at `url`, and allows what a program asks; without a screen, so that no
 * browser is needed. Goes back to the program, and keeps what was asked.
 */
export const personByHttp = (url: string, session: string) => {
  const read: Array<string> = []
  const base = url.replace("localhost", "127.0.0.1")
  const request = <Body>(method: string, path: string, sent: Sent = {}) => send<Body>(base, method, path, sent)
  const browse = async (asked: string) => {
    const browser = new PlainBrowser({ url, request })
    browser.cookies.set("svc_session", session)
    const { pathname, search } = new URL(asked)
    const page = await browser.go(pathname + search)
    read.push(page.text)
    const allowed = await browser.submit({ decision: "allow" })
    const back = allowed.headers.get("location")
    if (allowed.status !== 303 || back === null) throw new Error(`not allowed: ${allowed.status} ${allowed.text}`)
    return back
  }
  /** Also tells the program, which listens where the browser is sent. */
  const approve = async (asked: string) => {
    const answer = await fetch(await browse(asked))
    if (!answer.ok) throw new Error(`the program answered ${answer.status}: ${await answer.text()}`)
  }
  return { approve, browse, read }
}
