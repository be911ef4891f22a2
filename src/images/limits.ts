import { Context } from "effect"

const GiB = 1024 ** 3

/** Limits for one image. A reference, so that a test can lower them. */
export class ImageLimits extends Context.Reference<ImageLimits>()("images/ImageLimits", {
  defaultValue: () => ({
    /** Bytes of one manifest, index or config. The distribution specification asks registries to take 4 MiB. */
    document: 4 * 1024 ** 2,
    /** Bytes of all compressed layers together. */
    image: 4 * GiB,
    layers: 256,
    /** Bytes of all layers after decompression. */
    unpacked: 8 * GiB,
    /** Files, directories and links of all layers. */
    entries: 500_000,
    /** Milliseconds for one blob, and for one manifest or token. */
    blobMs: 30 * 60_000,
    documentMs: 20_000,
    /** Milliseconds before a push is tried again; each pause is twice the one before. */
    pushPauseMs: 500
  })
}) {}

export type Limits = typeof ImageLimits.Service
