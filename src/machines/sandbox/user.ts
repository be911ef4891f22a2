import { readInside } from "./inside.ts"

export interface User {
  readonly uid: number
  readonly gid: number
  readonly home: string
}

// 2^32-1 means "no change" to the system calls, so it can't be an id.
const id = (text: string | undefined) =>
  text !== undefined && /^\d{1,10}$/.test(text) && Number(text) < 4_294_967_295 ? Number(text) : undefined

const table = (rootfs: string, file: string) => readInside(rootfs, file).split("\n").map((line) => line.split(":"))

/** OCI image config `User`: `user`, `uid`, `user:group`, `uid:gid` and mixtures; a message when it does not exist. */
export const resolveUser = (rootfs: string, reference: string): User | string => {
  const [name = "", group] = reference.split(":")
  const rows = table(rootfs, "etc/passwd")
  const row = rows.find((fields) => fields[0] === name && name !== "") ??
    rows.find((fields) => id(fields[2]) !== undefined && id(fields[2]) === (name === "" ? 0 : id(name)))
  const uid = name === "" ? 0 : id(name) ?? id(row?.[2])
  if (uid === undefined) return `the image has no user ${JSON.stringify(name)}`
  const gid = group === undefined || group === ""
    ? id(row?.[3]) ?? 0
    : id(group) ?? id(table(rootfs, "etc/group").find((fields) => fields[0] === group)?.[2])
  if (gid === undefined) return `the image has no group ${JSON.stringify(group)}`
  const home = row?.[5] ?? ""
  return { uid, gid, home: home.startsWith("/") ? home : "/" }
}
