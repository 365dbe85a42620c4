"""`asbuilt verify`: run the checks of finished phases again."""
