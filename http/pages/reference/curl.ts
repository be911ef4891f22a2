import { shellQuoted } from "#src/format/shell.ts"
import { type Operation } from "./Document.ts"

const bodyOf = ({ requestBody }: Operation): ReadonlyArray<string> =>
  Object.entries(requestBody?.content ?? {}).flatMap(([type, { example }]) =>
    type === "multipart/form-data"
      ? Object.entries(example ?? {}).map(([name, value]) =>
        `-F ${name === "file" ? "file=@FILE" : shellQuoted(`${name}=${JSON.stringify(value)}`)}`
      )
      : [`-H 'Content-Type: application/json'`, `-d ${shellQuoted(JSON.stringify(example ?? {}))}`]
  )

/** The command that sends an operation's example; names in upper case are for the reader to fill in. */
export const curlOf = (baseUrl: string, method: string, path: string, operation: Operation) => {
  const shown = (operation.parameters ?? []).flatMap(({ example, in: where, name }) =>
    where !== "query" || example === undefined ? [] : [[name, example] as const]
  )
  const query = String(new URLSearchParams(Object.fromEntries(shown)))
  const url = baseUrl +
    path.replace(/\{(\w+)\}/g, (_, name: string) => name.replace(/(?=[A-Z])/g, "_").toUpperCase()) +
    (query === "" ? "" : `?${query}`)
  const given = [
    ...(method === "get" ? [] : [`-X ${method.toUpperCase()}`]),
    shellQuoted(url),
    ...((operation.security ?? []).length === 0 ? [] : [`-H "Authorization: Bearer $KEY"`]),
    ...bodyOf(operation)
  ]
  return `curl -s ${given.join(" \\\n  ")}`
}
