import { type Wanted } from "#src/images/LayerFiles.ts"
import { type Item, nothing } from "./Item.ts"
import { readNodePackage, readPythonPackage } from "./library-packages.ts"
import { readRelease } from "./release.ts"
import { readApk, readDpkg } from "./system-packages.ts"

const MiB = 1024 ** 2

interface Kind {
  readonly path: RegExp
  /** Larger files are not read. */
  readonly most: number
  readonly read: (text: string) => Item
}

/** Python's packages of Debian itself are below /usr/lib/python3/dist-packages, and dpkg lists them. */
const kinds: ReadonlyArray<Kind> = [
  { path: /^var\/lib\/dpkg\/status$/, most: 16 * MiB, read: readDpkg },
  { path: /^var\/lib\/dpkg\/status\.d\/(?![^/]*\.md5sums$)[^/]+$/, most: MiB, read: readDpkg },
  { path: /^(?:usr\/)?lib\/apk\/db\/installed$/, most: 16 * MiB, read: readApk },
  { path: /^(?:etc|usr\/lib)\/os-release$/, most: MiB, read: readRelease },
  { path: /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/@]+\/package\.json$/, most: 4 * MiB, read: readNodePackage },
  {
    path: /(?:^|\/)(?:site-packages|local\/lib\/python[\d.]+\/dist-packages)\/[^/]+\.dist-info\/METADATA$/,
    most: 4 * MiB,
    read: readPythonPackage
  },
  {
    path: /^(?:var\/lib\/rpm|usr\/lib\/sysimage\/rpm)\/(?:rpmdb\.sqlite|Packages|Packages\.db)$/,
    most: 0,
    read: () => nothing
  }
]

const kindOf = (path: string) => kinds.find((kind) => kind.path.test(path))

const read = (kind: Kind, path: string, bytes: Buffer | undefined): Item => {
  if (kind.most === 0) return { _tag: "Other", what: "RPM" }
  if (bytes === undefined) return { _tag: "Unread", path }
  try {
    return kind.read(bytes.toString("utf8"))
  } catch {
    return { _tag: "Unread", path }
  }
}

/** The files of an image that tell which packages it has. */
export const packageFiles: Wanted<Item> = {
  most: (path) => kindOf(path)?.most,
  keep: (path, bytes) => {
    const kind = kindOf(path)
    return kind === undefined ? nothing : read(kind, path, bytes)
  }
}
