import { reactRouter } from "@react-router/dev/vite";

export default {
  plugins: [reactRouter()],
  optimizeDeps: { exclude: ["@site-connector/chat-widget"] },
};
