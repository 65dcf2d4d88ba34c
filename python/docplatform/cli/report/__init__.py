"""``docplatform report``: what it reads, and the page that shows it."""
