print("versionsctl")
