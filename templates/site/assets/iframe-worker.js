/* A stand-in for web workers on pages that are opened from a disk: browsers refuse real workers on file:// addresses, so the
   worker's script runs in a hidden frame. Does nothing on pages that a server sends. */
(function () {
  "use strict"
  if (location.protocol !== "file:") return

  class FrameWorker extends EventTarget {
    constructor(address) {
      super()
      this.onmessage = null
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      this.inside = frame.contentWindow
      const inside = this.inside
      inside.document.open()
      inside.document.write("<!doctype html><html><head></head><body></body></html>")
      inside.document.close()
      inside.postMessage = (data) => this.receive(data)
      inside.importScripts = (...files) =>
        files.reduce((before, file) => before.then(() => this.load(file)), Promise.resolve())
      this.load(String(address)).then(() => {
        this.ready = true
        this.waiting.splice(0).forEach((data) => this.deliver(data))
      })
    }
    load(file) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script")
        script.src = new URL(file, this.base || document.baseURI).href
        this.base = this.base || script.src
        script.onload = resolve
        script.onerror = reject
        this.inside.document.body.appendChild(script)
      })
    }
    deliver(data) {
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }))
    }
    receive(data) {
      const event = new MessageEvent("message", { data })
      this.dispatchEvent(event)
      if (this.onmessage) this.onmessage(event)
    }
    postMessage(data) {
      if (this.ready) this.deliver(data)
      else this.waiting.push(data)
    }
    terminate() {
      this.inside.frameElement.remove()
    }
  }

  window.IFrameWorker = FrameWorker
  window.Worker = FrameWorker
})()
