/** The result of one probe of the health path. */
export type Probe =
  | { readonly _tag: "NotListening"; readonly why: string }
  | { readonly _tag: "Silent" }
  | { readonly _tag: "Answered"; readonly status: number; readonly body: string }

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
      return isJson(probe.body) ? undefined : "answered 200, but the body is not JSON"
  }
}

export const timedOut = (path: string, seconds: number, last: string) => `${path} ${last} (waited ${seconds} s)`

const longestWords = 300

/** `words` is the line of its output that best explains the exit; empty when there is none. */
export const exited = (path: string, exitCode: number | null, words: string) => {
  const what = exitCode === null
    ? `the machine ended before ${path} answered, and its exit code was lost`
    : `the machine exited with code ${exitCode} before ${path} answered`
  return words === ""
    ? what
    : `${what}: ${words.length <= longestWords ? words : `${words.slice(0, longestWords - 1).toWellFormed()}…`}`
}
