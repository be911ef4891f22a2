import { exitWords } from "./exit-words.ts"

/** The result of one probe of the health path. */
export type Probe =
  | { readonly _tag: "NotListening"; readonly why: string }
  | { readonly _tag: "Silent" }
  | {
    readonly _tag: "Answered"
    readonly status: number
    readonly body: string
    /** More came than is read; `body` is empty. */
    readonly isTooLarge?: true
  }

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Why a probe is not healthy; undefined when it is: status 200 with a JSON body (contract: Hosted servers). */
export const complaint = (probe: Probe, port: number): string | undefined => {
  switch (probe._tag) {
    case "NotListening":
      return `did not answer: ${probe.why} (the server must listen on PORT, which is ${port})`
    case "Silent":
      return "took the connection and did not answer"
    case "Answered":
      if (probe.status !== 200) return `answered with status ${probe.status}, not 200`
      if (probe.isTooLarge) return "answered 200, but with more than 64 KiB"
      return isJson(probe.body) ? undefined : "answered 200, but the body is not JSON"
  }
}

/** The health path of the contract, which the world's images lack: only there MCP passes in place of a 404. */
export const contractualPath = "/healthz"

export const isNotFound = (probe: Probe) => probe._tag === "Answered" && probe.status === 404

/** Whether a server, which knows only its own names, refused the request's `Host`: 400, 403 and 421 are in use for it. */
export const refusesHost = (status: number, said: string) =>
  status === 421 || [400, 403].includes(status) && /\bhost\b/i.test(said)

/** What a server that guards its `Host` has to do (docs/decisions/machine-host.md). */
export const acceptHost = (port: number) =>
  `requests come with Host: localhost:${port} and the public name in X-Forwarded-Host; let the server accept them`

const stdio = "if it speaks MCP over stdio, deploy its package (imageUri npm:NAME@VERSION or pypi:NAME==VERSION), or " +
  "start it in the image through an HTTP wrapper, such as supergateway --stdio \"COMMAND\" --outputTransport " +
  "streamableHttp --port $PORT"

/** A package's stdio is served over HTTP unless it was deployed as one that does this by itself. */
const noHttp =
  "the package's program does not serve HTTP: leave transport out, so that its stdio is served over HTTP, or " +
  "give args with which it serves HTTP on PORT"

/** Its stdio is served over HTTP, and its program ended before the first word, or says none. */
const noStdio =
  "the package's program does not speak MCP over stdio: give the args with which it does, name another of " +
  "its programs (command), or, if it serves HTTP on PORT, set transport to http"

/** An image listens by itself; a package does, or its stdio is served over HTTP. */
export type Speaks = "image" | "http" | "stdio"

const notServing: Readonly<Record<Speaks, string>> = { image: stdio, http: noHttp, stdio: noStdio }

const listOf = (ports: ReadonlyArray<number>) =>
  ports.length > 5 ? `${ports.slice(0, 5).join(", ")} and others` : ports.join(", ")

const setPath = "set the server's healthPath to a path that answers 200 with JSON"

/**
 * Which of two probes says more about why a machine is not healthy. The last one may have had little time: its silence
 * says less than an earlier answer, and more than that nothing listened.
 */
export const telling = (earlier: Probe | undefined, last: Probe, wasCutShort: boolean): Probe =>
  wasCutShort && last._tag === "Silent" && earlier?._tag === "Answered" ? earlier : last

/** The health path answered 404, and MCP did not pass in its place: what else there is to do. */
export const orHealthPath = `; or ${setPath}`

/** The complaint with what to do about it. `listening`: the ports on which something in the machine listens. */
export const advice = (
  path: string,
  probe: Probe,
  port: number,
  listening: ReadonlyArray<number>,
  speaks: Speaks
): string => {
  const said = complaint(probe, port) ?? "answered"
  switch (probe._tag) {
    case "NotListening":
      if (listening.includes(port)) return said
      return listening.length === 0
        ? `${said}; nothing in the machine listens on any port: ${notServing[speaks]}`
        : `${said}; it listens on ${listOf(listening)} instead: let it read PORT, or set the variable that it reads`
    case "Silent":
      return said
    case "Answered":
      if (refusesHost(probe.status, probe.body) || probe.status === 403) return `${said}; ${acceptHost(port)}`
      if (probe.status === 200) {
        return `${said}: let it answer ${probe.isTooLarge ? "a short JSON document" : "JSON"}, or ${setPath}`
      }
      return probe.status === 404 && path !== contractualPath
        ? `${said}; ${setPath}, or to ${contractualPath}: where that answers 404, a successful MCP handshake passes in ` +
          "its place"
        : said
  }
}

export const timedOut = (path: string, seconds: number, last: string) => `${path} ${last} (waited ${seconds} s)`

const longestWords = 300

const quoted = (words: string) =>
  words.length <= longestWords ? words : `${words.slice(0, longestWords - 1).toWellFormed()}…`

/**
 * `words` is the line of its output that best explains the exit; empty when there is none. `listened`: whether it was
 * ever seen to listen on its port.
 */
export const exited = (
  path: string,
  exitCode: number | null,
  words: string,
  { listened, speaks }: { readonly listened: boolean; readonly speaks: Speaks }
) => {
  const lost = exitCode === null ? ", and its exit code was lost" : ""
  const what = `the machine ${exitWords(exitCode)} before ${path} answered${lost}`
  // A stdio server's input is at its end at once, which is how its client tells it to go.
  if (exitCode === 0 && !listened) {
    return `${what}, and nothing ever listened on its port: ${notServing[speaks]}${
      words === "" ? "" : `; its last words: ${quoted(words)}`
    }`
  }
  return words === "" ? what : `${what}: ${quoted(words)}`
}

/** The same for one that was healthy, and did not live to serve. */
export const exitedAfter = (path: string, exitCode: number | null, words: string) =>
  `the machine answered ${path} and then ${exitWords(exitCode)}${words === "" ? "" : `: ${quoted(words)}`}`
