// A browser starts no Worker on a page that was opened from a folder. There, the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    onmessage = null;
    onerror = null;
    #frame = document.createElement("iframe");
    #loaded;

    constructor(url) {
      super();
      this.#frame.hidden = true;
      document.body.append(this.#frame);
      const inside = this.#frame.contentWindow;
      inside.postMessage = (data) => {
        const copy = structuredClone(data);
        setTimeout(() => this.onmessage?.(new MessageEvent("message", { data: copy })));
      };
      this.#loaded = new Promise((loaded) => {
        const script = inside.document.createElement("script");
        script.src = url;
        script.onload = loaded;
        script.onerror = () => this.onerror?.(new ErrorEvent("error", { message: "not loaded: " + url }));
        inside.document.head.append(script);
      });
    }

    postMessage(data) {
      const inside = this.#frame.contentWindow;
      const copy = inside.structuredClone(data);
      this.#loaded.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data: copy })));
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
